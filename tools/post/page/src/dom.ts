// SPDX-License-Identifier: MIT
// Makes elements. Text is only ever set as text, so nothing in a trace can become markup.

type Child = Node | string;

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function button(text: string, attributes: Record<string, string>, press: () => void): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, text);
  made.addEventListener('click', press);
  return made;
}

// A choice of one of several values.
export function choice(
  label: string,
  options: readonly { value: string; text: string }[],
  change: (value: string) => void,
): { box: HTMLLabelElement; select: HTMLSelectElement } {
  const select = element('select');
  for (const { value, text } of options) select.append(element('option', { value }, text));
  select.addEventListener('change', () => change(select.value));
  return { box: element('label', {}, `${label} `, select), select };
}

// Prepares a canvas for drawing in CSS pixels; its width is that of the element around it.
export function prepareCanvas(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d')!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

export const canvasFont = '12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';

let letterWidth = 0;

// The text, cut so that it fits into a width; '' if that is hardly a letter wide.
export function fitText(context: CanvasRenderingContext2D, text: string, width: number): string {
  context.font = canvasFont;
  letterWidth ||= context.measureText('m').width;
  const letters = Math.floor(width / letterWidth);
  if (letters < 2) return '';
  if (text.length <= letters) return text;
  return `${text.slice(0, letters - 1)}…`;
}
