// Tables, whose rows become cards where there is little room. The roles are spelled out,
// since browsers forget them where the style changes how a row is laid out.
import { type ComponentChildren, Fragment, type JSX } from "preact";

export interface Column<R> {
  readonly label: string;
  readonly cell: (row: R) => ComponentChildren;
  readonly number?: boolean;
}

export interface TableProps<R> {
  readonly label: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  readonly keyOf: (row: R) => string;
  /** What is shown below a row; undefined: nothing. */
  readonly detail?: (row: R) => ComponentChildren;
  readonly busy?: boolean;
}

export function Table<R>({ label, columns, rows, keyOf, detail, busy }: TableProps<R>): JSX.Element {
  return (
    <div class="scroll">
      <table role="table" aria-label={label} aria-busy={busy ?? false}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th key={column.label} role="columnheader" scope="col" class={column.number ? "number" : ""}>
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => {
            const below = detail?.(row);
            return (
              <Fragment key={keyOf(row)}>
                <tr role="row" class={below ? "open" : ""}>
                  {columns.map((column, i) => cell(column, row, i === 0))}
                </tr>
                {below && (
                  <tr role="row" class="detail">
                    <td role="cell" colSpan={columns.length}>
                      {below}
                    </td>
                  </tr>
                )}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function cell<R>(column: Column<R>, row: R, first: boolean): JSX.Element {
  const shared = { "data-label": column.label, class: column.number ? "number" : "" };
  const content = <div>{column.cell(row)}</div>;
  return first ? (
    <th key={column.label} {...shared} role="rowheader" scope="row">
      {content}
    </th>
  ) : (
    <td key={column.label} {...shared} role="cell">
      {content}
    </td>
  );
}

/** A button that shows more of a row. */
export function Expand(props: {
  open: boolean;
  label: string;
  onToggle: () => void;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <button type="button" class="expand" aria-expanded={props.open} aria-label={props.label} onClick={props.onToggle}>
      {props.children}
    </button>
  );
}

export interface PagesProps {
  readonly page: number; // from 1
  readonly more: boolean;
  readonly onPrevious: () => void;
  readonly onNext: () => void;
}

export function Pages({ page, more, onPrevious, onNext }: PagesProps): JSX.Element | null {
  if (page === 1 && !more) return null;
  return (
    <nav class="pages" aria-label="Pages">
      <button type="button" disabled={page === 1} onClick={onPrevious}>
        Previous page
      </button>
      <span>Page {page}</span>
      <button type="button" disabled={!more} onClick={onNext}>
        Next page
      </button>
    </nav>
  );
}
