int e(int a)
{
	return 0;
}
int f(int a)
{
#ifdef X
	a++;
#endif
out:
	return a;
}
