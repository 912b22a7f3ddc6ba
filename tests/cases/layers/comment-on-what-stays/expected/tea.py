def brew():
    boil()
    pour()
    # The rest stays as it is.
    drink()
