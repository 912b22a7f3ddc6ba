def brew():
    x = kettle()
    wait(3)
    return x


def steep():
    x = kettle()
    wait(2)
    return x
