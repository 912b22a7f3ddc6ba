class Cat:
    def name(self):
        return 1


class Dog:
    def name(self):
        return None
