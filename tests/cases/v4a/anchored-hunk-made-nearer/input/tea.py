def brew():
    fill(kettle)
    wait(3)
    fill(cup)
    stop()
    fill(kettle)
    wait(2)
    fill(cup)
