import cups

def boil():
    wait(3)
    pour()
