def brew():
    # Set the limit.
    limit = load()


def steep():
    count = 5


def pour():
    # Other.
    count = 5
