/** Argument from which the asymptotic series has the precision of a double. */
const SERIES_FROM = 12;

/** Returns the derivative of the logarithm of the gamma function, for arguments above 0. */
export function digamma(argument: number): number {
  let [x, shift] = [argument, 0];
  for (; x < SERIES_FROM; x += 1) shift -= 1 / x;
  const s = 1 / (x * x);
  const series = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s * (1 / 132 - (s * 691) / 32760)))));
  return shift + Math.log(x) - 1 / (2 * x) - series;
}
