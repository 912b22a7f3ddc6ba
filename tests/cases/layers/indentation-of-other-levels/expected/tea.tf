cup {
  size = 1
  handle {
    colour = 3
  }
  lid {
    colour = 2
  }
}
