def brew():
    ...

def pour():
    return 1
