def brew():
    if cold:
        heat()
    ...
