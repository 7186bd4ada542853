// Format figures in the same way on all parts of the crawl page.
export const whole = new Intl.NumberFormat("en");
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export function size(bytes) {
  const units = ["B", "kB", "MB", "GB"];
  for (const unit of units) {
    if (bytes < 1000) return `${unit === "B" ? bytes.toFixed(0) : bytes.toFixed(1)} ${unit}`;
    bytes /= 1000;
  }
  return `${bytes.toFixed(1)} TB`;
}

// A tick of an axis: `150 MB`, `2.5 kB`.
export function shortSize(bytes) {
  return size(bytes).replace(".0 ", " ");
}

export function count(value) {
  return value < 10000 ? whole.format(value) : compact.format(value);
}

export function duration(seconds) {
  if (seconds < 10) return `${+seconds.toFixed(1)} s`;
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = Math.floor(seconds % 60);
  return hours ? `${hours} h ${minutes} min` : minutes ? `${minutes} min ${rest} s` : `${rest} s`;
}

// A tick of a time axis: short, and exact for the steps that the axis has.
export function tick(seconds) {
  if (seconds < 60) return `${seconds} s`;
  const pair = (large, small) => `${large}${small ? `:${String(small).padStart(2, "0")}` : ""}`;
  if (seconds < 3600) return `${pair(Math.floor(seconds / 60), seconds % 60)} min`;
  if (seconds < 172800) return `${pair(Math.floor(seconds / 3600), Math.round(seconds / 60) % 60)} h`;
  return `${+(seconds / 86400).toFixed(1)} d`;
}
