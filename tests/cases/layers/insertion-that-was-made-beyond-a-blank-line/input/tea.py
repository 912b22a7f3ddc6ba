import cups

import leaves
