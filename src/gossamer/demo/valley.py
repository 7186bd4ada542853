"""The invented valley: names and words that more than one host of the demo web uses."""

from __future__ import annotations

from typing import Final

VILLAGES: Final = (
    "Orrelford",
    "Nethermill",
    "Quillwick",
    "Thistle Fen",
    "Upper Sandle",
    "Marrow Bridge",
    "Owlhanger",
    "Saint Brannoc",
)

PEOPLE: Final = (
    "Ada Penhallow",
    "Bertram Loach",
    "Cicely Marsh",
    "Dorcas Vine",
    "Edmund Tallow",
    "Florence Ashby-Reed",
    "Gideon Fletch",
    "Hester Quill",
    "Isaac Thornbury",
    "Jonas Weir",
    "Lettice Harrow",
    "Matthias Oakes",
    "Nell Sparrow",
    "Obadiah Finch",
    "Prudence Locke",
    "Walter Brook",
)

WEATHER: Final = (
    "after a week of rain",
    "on the first dry day of the month",
    "in a thin morning mist",
    "under a sky the colour of slate",
    "while the wind came down from Owlhanger",
    "in the long light of the evening",
    "before the frost was off the fields",
)

VALLEY: Final = {
    "village": VILLAGES,
    "person": PEOPLE,
    "weather": WEATHER,
    "water": (
        "the Orrel",
        "the old mill race",
        "the ford",
        "the weir at Nethermill",
        "the reed beds below Thistle Fen",
    ),
    "bird": ("a heron", "a pair of swifts", "the kingfisher", "a barn owl", "two curlews"),
    "food": ("plum cake", "barley soup", "smoked trout", "seed bread", "pickled walnuts"),
    "number": ("three", "four", "seven", "nine", "eleven", "two dozen"),
}
