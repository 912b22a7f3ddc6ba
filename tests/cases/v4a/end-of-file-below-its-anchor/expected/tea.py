def brew():
    pass


print(1)
print(3)
