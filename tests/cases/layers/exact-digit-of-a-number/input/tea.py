boil()
cups = 12
