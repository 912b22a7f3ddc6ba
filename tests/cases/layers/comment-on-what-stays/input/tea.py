def brew():
    boil()
    pour()
    wait()
    drink()
