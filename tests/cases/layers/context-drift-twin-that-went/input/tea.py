import os
import sys
import json
import time
