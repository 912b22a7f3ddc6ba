import cups
import leaves
