def main():
    cup = brew_tea()
    debug = True
    go(cup)


def brew_tea_from(leaves):
    debug = True
    return leaves
