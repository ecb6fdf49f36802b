// Fields of forms, with what helps and what is wrong.
import type { JSX } from "preact";
import { useId, useLayoutEffect } from "preact/hooks";

interface Common {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  readonly autoFocus?: boolean;
}

export interface TextFieldProps extends Common {
  readonly type?: "text" | "password";
  readonly rows?: number; // more than one line
  readonly mono?: boolean;
  readonly autoComplete?: "username" | "current-password" | "off";
  readonly readOnly?: boolean;
  readonly count?: { readonly now: number; readonly most: number; readonly unit: string };
  readonly options?: readonly string[]; // suggested
}

export function TextField(props: TextFieldProps): JSX.Element {
  const {
    label,
    value,
    onInput,
    hint,
    error,
    type = "text",
    rows,
    mono,
    autoComplete = "off",
    readOnly,
    count,
    options,
  } = props;
  const id = useId();
  // Browsers heed the attribute with the next frame, if nothing has the focus by then; on a busy machine the
  // heading had it first. A dialog needs the attribute, too.
  useLayoutEffect(() => {
    if (props.autoFocus) document.getElementById(id)?.focus();
  }, []);
  const over = count && count.now > count.most;
  const wrong = error ?? (over ? `At most ${count.most} ${count.unit}.` : undefined);
  const shared = {
    id,
    value,
    readOnly: readOnly ?? false,
    class: mono ? "mono" : "",
    autoComplete,
    autoCapitalize: "off" as const,
    spellcheck: false,
    autofocus: props.autoFocus ?? false,
    "aria-invalid": wrong !== undefined,
    "aria-describedby": `${id}-help`,
    onInput: (event: { currentTarget: { value: string } }) => onInput(event.currentTarget.value),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {rows ? (
        <textarea {...shared} rows={rows} />
      ) : type === "password" ? (
        <input {...shared} type="password" />
      ) : (
        <input {...shared} type="text" list={options && `${id}-list`} />
      )}
      {options && (
        <datalist id={`${id}-list`}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
      <div id={`${id}-help`} class="help">
        {hint && <p>{hint}</p>}
        {count && (
          <p class={over ? "wrong" : ""}>
            {count.now} of {count.most} {count.unit}
          </p>
        )}
        {wrong && <p class="wrong">{wrong}</p>}
      </div>
    </div>
  );
}

export interface SelectFieldProps extends Common {
  readonly options: readonly (readonly [value: string, label: string])[];
}

export function SelectField({ label, value, onInput, hint, options }: SelectFieldProps): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        aria-describedby={`${id}-help`}
        onChange={(event) => onInput(event.currentTarget.value)}
      >
        {options.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
      <div id={`${id}-help`} class="help">
        {hint && <p>{hint}</p>}
      </div>
    </div>
  );
}

export interface CheckFieldProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly hint?: string;
}

export function CheckField({ label, checked, onChange, hint }: CheckFieldProps): JSX.Element {
  const id = useId();
  return (
    <div class="check">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        aria-describedby={`${id}-help`}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      <p id={`${id}-help`} class="help">
        {hint}
      </p>
    </div>
  );
}
