// Package xpath evaluates XPath 1.0 on small XML documents from strangers.
//
// [ParseDocument] reads a document within limits; a document type, and with it every entity but the five of XML, is
// refused. [Parse] reads an expression: the whole grammar, all axes but namespace, and the core functions but id, lang and
// namespace-uri. Names are compared as they are written, prefix and all: there is nobody to say what a prefix stands for, and an element in a
// default namespace is found by its name. [Expr.Evaluate] works within a budget of steps, whatever the expression.
//
// Expressions and documents are immutable and may be used by several goroutines at once.
package xpath
