import cups
import kettles
import leaves
import spoons
