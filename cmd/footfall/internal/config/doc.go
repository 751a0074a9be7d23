// Package config reads settings from flags, the environment and a file.
//
// A program lists its settings once, each bound to the variable that it fills: see
// [Setting] and its constructors. From that list come the command-line flags, the names
// of the environment variables, the strict reader of the file, the account of where each
// value came from, and the reference in the manual.
//
// The types in reading order: [Setting]; [Item], one mapping of a setting that is a list of them; [Sources], where values are looked for;
// [Load], which fills the variables; [Origin], where a value came from; [Error], one
// thing that was wrong, and [Errors], all of them: a user wants to mend a file once.
//
// The order of precedence is flag, environment, file, default. Nothing is guessed: a name
// that is not in the list is an error wherever it stands, since a misspelt setting
// would otherwise be one that is silently off. A file is at most [MaxFile] octets.
package config
