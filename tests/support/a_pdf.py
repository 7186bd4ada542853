"""PDF files for tests, small enough to be written by hand: text, a title, a link on each page."""

from __future__ import annotations

from collections.abc import Sequence


def a_pdf(pages: Sequence[tuple[str, str]], title: str = "") -> bytes:
    """A PDF with a page for each (text, URL that the text links to, or empty)."""
    kids = " ".join(f"{4 + 3 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, (text, target) in enumerate(pages):
        at = 4 + 3 * number
        annotations = f"/Annots [{at + 2} 0 R]" if target else ""
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Contents {at + 1} 0 R"
            f" /Resources << /Font << /F1 3 0 R >> >> {annotations} >>"
        )
        stream = f"BT /F1 18 Tf 20 100 Td ({text}) Tj ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        objects.append(
            "<< /Type /Annot /Subtype /Link /Rect [10 90 390 130]"
            f" /A << /S /URI /URI ({target}) >> >>"
        )
    objects.append(f"<< /Title ({title}) >>")
    return a_file(objects)


def a_file(objects: Sequence[str]) -> bytes:
    """A PDF of these objects, the first of which is its catalog."""
    body, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    trailer = (
        f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n"
        f"<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\n"
        f"startxref\n{len(body)}\n%%EOF\n"
    )
    return body + trailer.encode("latin-1")
