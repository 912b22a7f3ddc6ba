def tea():
    heat()
    wait()
    pour()
