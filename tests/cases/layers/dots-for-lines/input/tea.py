def f():
    first_step()
    second_step()
    third_step()
    return 1
