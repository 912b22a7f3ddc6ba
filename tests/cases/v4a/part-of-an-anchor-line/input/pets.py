class Dog(Pet):
    def bark(self):
        return None
