import cups
import leaves

def boil():
    wait(3)
    pour()
