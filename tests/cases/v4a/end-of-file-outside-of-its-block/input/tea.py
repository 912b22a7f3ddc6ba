def brew():
    minutes = 3
    return minutes


def steep():
    minutes = 2
    return minutes
