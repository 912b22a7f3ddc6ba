boil()
return teapot
