import cups

@timed
def boil():
    wait(3)
    pour()
