class Cat:
    def name(self):
        return None


class Dog:
    def name(self):
        return None
