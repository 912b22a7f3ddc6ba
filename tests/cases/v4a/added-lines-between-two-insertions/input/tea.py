import cups
import spoons
