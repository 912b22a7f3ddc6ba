soup = souppot
