PRICES = {"bread": 4.5, "coffee": 3.25}


def total(names):
    return sum(PRICES[name] for name in names)
