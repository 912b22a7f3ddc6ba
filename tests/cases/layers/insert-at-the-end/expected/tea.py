import cups
import leaves
import tea
import water