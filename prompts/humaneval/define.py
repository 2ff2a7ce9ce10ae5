# /// cap
# docs = false
# prefix = "define function: "
# ///
from typing import List

# define function: total = get_total(numbers).
def get_total(numbers):
    return sum(numbers)

# define function: gaps = get_gaps_between_neighbours(positions=sorted(positions)).
def get_gaps_between_neighbours(positions):
    return [right - left for left, right in zip(positions, positions[1:])]

# define function: is_vowel(letter).
def is_vowel(letter):
    return letter.lower() in 'aeiou'

# define function: words = split_into_words(text, separators=',;').
def split_into_words(text, separators):
    for separator in separators:
        text = text.replace(separator, ' ')
    return text.split()
