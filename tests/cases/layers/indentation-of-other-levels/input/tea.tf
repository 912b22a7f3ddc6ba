cup {
  size = 1
  lid {
    colour = 2
  }
}
