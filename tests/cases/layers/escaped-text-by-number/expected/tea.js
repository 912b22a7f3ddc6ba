function brew() {
  heat("<kettle>");
  pour(x =&gt; x);
}
