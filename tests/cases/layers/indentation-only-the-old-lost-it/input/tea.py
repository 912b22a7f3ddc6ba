def brew():
    if cold:
        heat()
    pour()
