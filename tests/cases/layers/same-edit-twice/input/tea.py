import leaves
def brew():
    pass
