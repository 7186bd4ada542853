from gossamer.urls.ascend import above
from support.rows import each_row


@each_row(
    ("url", "directories"),
    [
        ("https://a.example/", []),
        ("https://a.example/?q=/x/", ["https://a.example/"]),
        ("https://a.example/b", ["https://a.example/"]),
        ("https://a.example/b/", ["https://a.example/"]),
        (
            "http://a.example:81/b/c/d.html?e=/f/",
            ["http://a.example:81/b/c/", "http://a.example:81/b/", "http://a.example:81/"],
        ),
    ],
)
def test_each_directory_above_comes_once_the_nearest_first(
    url: str, directories: list[str]
) -> None:
    assert list(above(url)) == directories
