import tea

import cups
