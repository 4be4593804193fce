"""``python -m controller.cli`` is ``dealerd``."""

import sys

from controller.cli import main

sys.exit(main())
