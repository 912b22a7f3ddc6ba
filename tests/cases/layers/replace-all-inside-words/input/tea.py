tea = teapot
