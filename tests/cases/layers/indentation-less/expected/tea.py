def brew():
    if cold and new:
        heat()
        wait()
    pour()
