// The parts of Preact and htm that the page uses.
export const html: (strings: TemplateStringsArray, ...values: any[]) => any;
export function render(tree: any, parent: HTMLElement): void;
export function useState<T>(first: T): [T, (next: T | ((before: T) => T)) => void];
export function useEffect(run: () => void | (() => void), inputs?: any[]): void;
export function useRef(first: any): { current: any };
export function useCallback<T>(run: T, inputs: any[]): T;
