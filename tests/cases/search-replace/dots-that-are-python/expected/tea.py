def brew():
    return 2

def pour():
    return 1
