import cups
import leaves