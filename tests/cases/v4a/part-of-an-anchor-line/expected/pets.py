class Dog(Pet):
    def bark(self):
        return 1
