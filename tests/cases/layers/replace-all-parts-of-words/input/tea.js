boil()
return tea
boil()
return teapot
