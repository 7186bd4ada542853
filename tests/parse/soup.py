"""Pages as careless hands write them: any tags, in any order, half of them closed."""

from hypothesis import strategies as st

TAGS = (
    "a", "a", "a", "p", "p", "div", "span", "b", "i", "em", "ul", "ol", "li", "li", "dl", "dt",
    "dd", "table", "tr", "td", "th", "tbody", "thead", "caption", "form", "h1", "h2", "h3",
    "pre", "br", "hr", "img", "input", "button", "select", "option", "optgroup", "textarea",
    "script", "style", "title", "noscript", "nav", "main", "header", "footer", "aside",
    "section", "article", "blockquote", "svg", "path", "g", "iframe", "link", "meta", "base",
    "area", "font", "center", "fieldset", "legend", "label", "code", "col", "colgroup", "html",
    "head", "body", "template", "object", "math", "details", "summary", "figure", "figcaption",
    "listing", "nobr", "small", "strong", "ruby", "rt", "x-y",
)  # fmt: skip
ATTRIBUTES = (
    "href=x", "href='y?a=1&amp;b=2'", 'href="  #z "', "href='a&notb'", "rel=nofollow",
    'rel="NoFollow  me"', "rel=canonical", "rel=next", "role=navigation", "role='x main'",
    "alt=pic", "alt='a &lt; b'", "src=s", "title=t", "name=robots", "name=description",
    "name=generator", "content='noindex, nofollow'", "http-equiv=content-language", "lang=de",
    "type=hidden", "class", "=q", "id=a/b", "/", "xlink:href=q",
)  # fmt: skip
TEXTS = (
    "a", "b c", " ", "\n", "x\n\n y", "&amp;", "&nbsp;", "&copy", "&notin;", "&#65;", "&#x80;",
    "&bogus;", "< 3", "<", "é", "日本", "\u00a0", "\r\n", "\r", "\t", "&", "<!-- c -->", "<!x>",
    "<?pi>", "</>", "<!---->", "<!--->", "<![CDATA[x]]>", "]]>", "<!doctype html>",
)  # fmt: skip

_start = st.builds(
    lambda tag, attributes, end: f"<{' '.join([tag, *attributes])}{end}>",
    st.sampled_from(TAGS),
    st.lists(st.sampled_from(ATTRIBUTES), max_size=3),
    st.sampled_from(["", "", "", "/"]),
)
_end = st.sampled_from(TAGS).map(lambda tag: f"</{tag}>")
_head = st.sampled_from(["", "<!DOCTYPE html>", "<!DOCTYPE html><html lang=en><head></head><body>"])

SOUP = st.builds(
    lambda head, pieces: head + "".join(pieces),
    _head,
    st.lists(_start | _start | _end | _end | st.sampled_from(TEXTS), max_size=25),
)
