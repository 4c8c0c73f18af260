/** A matrix, stored row by row. */
export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly data: Float64Array;
}

/** Builds a matrix from a function of row and column. */
export function matrixOf(rows: number, columns: number, value: (row: number, column: number) => number): Matrix {
  return {
    rows,
    columns,
    data: Float64Array.from({ length: rows * columns }, (_, at) => value(Math.floor(at / columns), at % columns)),
  };
}

export function multiply(one: Matrix, other: Matrix): Matrix {
  return matrixOf(one.rows, other.columns, (row, column) => {
    let sum = 0;
    for (let at = 0; at < one.columns; at += 1)
      sum += one.data[row * one.columns + at]! * other.data[at * other.columns + column]!;
    return sum;
  });
}

export function transposed({ rows, columns, data }: Matrix): Matrix {
  return matrixOf(columns, rows, (row, column) => data[column * columns + row]!);
}

export function plus(one: Matrix, other: Matrix): Matrix {
  return { ...one, data: one.data.map((value, at) => value + other.data[at]!) };
}

export function minus(one: Matrix, other: Matrix): Matrix {
  return { ...one, data: one.data.map((value, at) => value - other.data[at]!) };
}

export function column(values: Float64Array): Matrix {
  return { rows: values.length, columns: 1, data: values };
}

/** Returns the lower factor of a symmetric positive definite matrix (Cholesky). */
export function cholesky({ rows, data }: Matrix): Matrix {
  const lower = new Float64Array(rows * rows);
  for (let row = 0; row < rows; row += 1)
    for (let at = 0; at <= row; at += 1) {
      let rest = data[row * rows + at]!;
      for (let k = 0; k < at; k += 1) rest -= lower[row * rows + k]! * lower[at * rows + k]!;
      lower[row * rows + at] = row === at ? Math.sqrt(Math.max(rest, 0)) : rest / lower[at * rows + at]!;
    }
  return { rows, columns: rows, data: lower };
}

/** Solves `L Lᵀ X = right` for X, with the lower factor L. */
export function solveFactored({ rows: size, data: lower }: Matrix, right: Matrix): Matrix {
  const { columns } = right;
  const data = Float64Array.from(right.data);
  for (let at = 0; at < columns; at += 1) {
    for (let row = 0; row < size; row += 1) {
      for (let k = 0; k < row; k += 1) data[row * columns + at]! -= lower[row * size + k]! * data[k * columns + at]!;
      data[row * columns + at]! /= lower[row * size + row]!;
    }
    for (let row = size - 1; row >= 0; row -= 1) {
      for (let k = row + 1; k < size; k += 1)
        data[row * columns + at]! -= lower[k * size + row]! * data[k * columns + at]!;
      data[row * columns + at]! /= lower[row * size + row]!;
    }
  }
  return { rows: size, columns, data };
}
